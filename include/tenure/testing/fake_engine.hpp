#pragma once

/// The scripted engine, for tests of an app's lifetimes.
#include "engines/fake/fake_engine.hpp"
