namespace Treepie.Storage.Format;

/// <summary>Where the journal goes on.</summary>
/// <param name="Use">Number of the use of a journal file; 0 before the first.</param>
/// <param name="Offset">Offset of the next frame in that file.</param>
/// <param name="Frame">Number of the next frame.</param>
/// <param name="PreviousHash">Hash of the frame before it.</param>
internal readonly record struct JournalPosition(long Use, long Offset, long Frame, ulong PreviousHash);
