namespace Treepie.Indexing.Writing;

/// <summary>An entry of a batch: the ordinal of its key, and where its record lies.</summary>
internal readonly record struct BatchEntry(int Key, int RecordStart, int RecordLength);
