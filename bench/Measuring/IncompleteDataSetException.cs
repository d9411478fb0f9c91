namespace Treepie.Bench.Measuring;

/// <summary>A suite needs more of a data set than this machine has; the message says what and where to get it.</summary>
internal sealed class IncompleteDataSetException(string message) : Exception(message);
