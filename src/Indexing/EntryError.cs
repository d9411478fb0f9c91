namespace Treepie.Indexing;

/// <summary>Why something has no entry in an index.</summary>
/// <param name="Label">What names it to people.</param>
/// <param name="Message">What is wrong with it.</param>
/// <param name="Time">When that was found (UTC).</param>
public sealed record EntryError(string Label, string Message, DateTime Time);
