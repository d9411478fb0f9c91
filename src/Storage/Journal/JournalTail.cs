using Treepie.Storage.Format;

namespace Treepie.Storage.Journal;

/// <summary>The last frame read by a recovery, which may have been only in the system's cache.</summary>
internal sealed record JournalTail(JournalFile File, JournalPosition At, FrameHeader Header);
