namespace Treepie;

/// <summary>What a compaction did to the documents, or to one index.</summary>
/// <param name="BytesBefore">Bytes of its data file before.</param>
/// <param name="BytesAfter">Bytes of its data file after.</param>
/// <param name="MovedPages">Pages written again nearer to the front.</param>
/// <param name="FreeBytes">Bytes of free pages that stay in the middle of the file, to be used first.</param>
/// <param name="HeldBy">One sentence for each thing that kept the file from being shorter; empty when nothing did.</param>
public sealed record CompactedStore(
    long BytesBefore, long BytesAfter, long MovedPages, long FreeBytes, IReadOnlyList<string> HeldBy);
