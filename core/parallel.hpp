// Work on several threads that Ctrl-C can stop.
//
// The workers never touch Python. The calling thread waits for them and calls `poll` a few times per second.
// If poll returns true (Ctrl-C), it sets the stop flag, which workers check between pieces of work.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace widemargin {

// Thrown by run_parallel after the workers have ended because `poll` returned true.
struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

using StopFlag = std::atomic<bool>;

// Calls task(thread, stop) for thread = 0 .. n_threads - 1, each on a thread of its own, and returns when all
// have ended. An exception stops the other threads; the first one (by thread number) is rethrown here.
//
// poll() -> bool is called on the calling thread; true means stop. A task that ends early because of `stop`,
// by returning or by throwing Interrupted, leaves its results undefined. So Interrupted is thrown whenever
// poll has returned true.
template <class Task, class Poll>
void run_parallel(int n_threads, Task&& task, Poll&& poll) {
    StopFlag stop{false};
    std::mutex mutex;
    std::condition_variable ended;
    int running = n_threads;
    std::vector<std::exception_ptr> errors(n_threads);
    std::vector<std::thread> workers;
    workers.reserve(n_threads);
    const auto leave = [&](int count) {
        const std::lock_guard<std::mutex> lock(mutex);
        running -= count;
        ended.notify_one();
    };
    try {
        for (int thread = 0; thread < n_threads; ++thread) {
            workers.emplace_back([&, thread] {
                try {
                    task(thread, stop);
                } catch (const Interrupted&) {  // only after `stop`, whose cause is already known
                } catch (...) {
                    errors[thread] = std::current_exception();
                    stop = true;
                }
                leave(1);
            });
        }
    } catch (...) {  // The system refuses another thread: stop those that run, then rethrow.
        errors[workers.size()] = std::current_exception();
        stop = true;
        leave(n_threads - static_cast<int>(workers.size()));
    }
    bool interrupted = false;
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (running > 0) {
            if (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; }) &&
                !interrupted) {
                lock.unlock();  // poll may wait for the interpreter's lock
                interrupted = poll();
                if (interrupted) stop = true;
                lock.lock();
            }
        }
    }
    for (std::thread& worker : workers) worker.join();
    if (interrupted) throw Interrupted();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

// a * b of two counts, or the largest number if that overflows: such products only tell whether there is
// enough work for threads.
inline int64_t saturated_product(int64_t a, int64_t b) {
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    return a > 0 && b > most / a ? most : a * b;
}

// Like run_parallel, but work of fewer than `few` steps runs on the calling thread, since starting a thread
// takes about 20 microseconds. Such work cannot be interrupted, so it must end within milliseconds. More work
// always runs on other threads, even if there is only one, so that the calling thread can check for Ctrl-C.
template <class Task, class Poll>
void run_work(int n_threads, int64_t steps, int64_t few, Task&& task, Poll&& poll) {
    if (steps < few) {
        const StopFlag never{false};
        task(0, never);
    } else {
        run_parallel(n_threads, task, poll);
    }
}

// Hands out [0, n) in order, in pieces of at most `piece`, to the next free thread. Results must not depend
// on which thread gets which piece.
class Pieces {
  public:
    Pieces(int64_t n, int64_t piece) : n_(n), piece_(std::max<int64_t>(piece, 1)) {}

    bool next(int64_t& begin, int64_t& end) {
        begin = next_.fetch_add(piece_, std::memory_order_relaxed);
        end = std::min(begin + piece_, n_);
        return begin < n_;
    }

    // Calls work(k) for every k that the caller gets, until `stop`.
    template <class Work>
    void each(const StopFlag& stop, Work&& work) {
        int64_t begin, end;
        while (!stop && next(begin, end)) {
            for (; begin < end && !stop; ++begin) work(begin);
        }
    }

  private:
    int64_t n_, piece_;
    std::atomic<int64_t> next_{0};
};

// Calls work(thread, k, stop) for every k in [0, n), each on the next free thread.
template <class Work, class Poll>
void run_each(int64_t n, int n_threads, Work&& work, Poll&& poll) {
    Pieces pieces(n, 1);
    run_parallel(
        static_cast<int>(std::min<int64_t>(n_threads, n)),
        [&](int thread, const StopFlag& stop) {
            pieces.each(stop, [&](int64_t k) { work(thread, k, stop); });
        },
        poll);
}

// Increases a progress counter that another thread reads.
inline void count_up(int64_t* counter, int64_t amount) {
    __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

// Calls work(label) for every label; `steps` is the work for all labels together.
template <class Work, class Poll>
void for_labels(int64_t n_labels, int64_t steps, int n_threads, Work&& work, Poll&& poll) {
    Pieces pieces(n_labels, 1);
    run_work(
        static_cast<int>(std::max<int64_t>(std::min<int64_t>(n_threads, n_labels), 1)), steps, 100000,
        [&](int, const StopFlag& stop) { pieces.each(stop, work); }, poll);
}

}  // namespace widemargin
