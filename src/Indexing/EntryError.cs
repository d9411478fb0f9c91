namespace Treepie.Indexing;

/// <summary>Why an item has no entry in an index.</summary>
/// <param name="Label">The label of the item, for display.</param>
/// <param name="Message">The error message.</param>
/// <param name="Time">When the error occurred (UTC).</param>
public sealed record EntryError(string Label, string Message, DateTime Time);
