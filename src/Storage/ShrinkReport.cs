namespace Treepie.Storage;

/// <summary>The result of <see cref="StorageEnvironment.Shrink"/>.</summary>
/// <param name="BytesBefore">The size of the data file before, in bytes.</param>
/// <param name="BytesAfter">The size of the data file after, in bytes.</param>
/// <param name="MovedPages">The number of pages moved towards the start of the file.</param>
/// <param name="FreeBytes">The number of bytes in free pages that remain in the file, to be reused first.</param>
/// <param name="HeldBy">The reasons why the file could not be shortened further, one sentence each; empty if there are
/// none.</param>
public sealed record ShrinkReport(
    long BytesBefore, long BytesAfter, long MovedPages, long FreeBytes, IReadOnlyList<string> HeldBy);
