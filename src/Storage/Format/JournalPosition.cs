namespace Treepie.Storage.Format;

/// <summary>A position in the journal, at which it continues.</summary>
/// <param name="Use">The number of the use of a journal file; 0 before the first.</param>
/// <param name="Offset">The offset of the next frame in that file.</param>
/// <param name="Frame">The number of the next frame.</param>
/// <param name="PreviousHash">The hash of the frame before it.</param>
internal readonly record struct JournalPosition(long Use, long Offset, long Frame, ulong PreviousHash);
