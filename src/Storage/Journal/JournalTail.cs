using Treepie.Storage.Format;

namespace Treepie.Storage.Journal;

/// <summary>The last frame that a recovery read: the one that may have been in the system's cache only.</summary>
internal sealed record JournalTail(JournalFile File, JournalPosition At, FrameHeader Header);
