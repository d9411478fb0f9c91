namespace Treepie.Indexing.Writing;

/// <summary>An entry of a batch: the ordinal of its key, and the place of its record.</summary>
internal readonly record struct BatchEntry(int Key, int RecordStart, int RecordLength);
