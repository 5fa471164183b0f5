"""Decision trees of C4.5, one per label, and committees of trees and stumps by boosting."""
