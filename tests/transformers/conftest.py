import pytest
import sklearn


@pytest.fixture
def routed():
    """Metadata routing switched on."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield
