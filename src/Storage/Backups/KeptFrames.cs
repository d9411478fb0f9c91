using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Journal;

namespace Treepie.Storage.Backups;

/// <summary>
/// Reads the journal frames kept for the log from a transaction on, across files and uses, and decrypts them. Commits may
/// continue after the given end. A file reused meanwhile shows as a gap, because its frames no longer match.
/// </summary>
internal sealed class KeptFrames : IDisposable
{
    private readonly JournalFiles _files;
    private readonly StoreCipher? _cipher;
    private readonly List<JournalFile> _uses;
    private byte[] _frame = [];

    public KeptFrames(IFileSystem files, Guid storeId, StoreCipher? cipher)
    {
        _cipher = cipher;
        _files = new JournalFiles(files);
        _uses = [
            .. _files.OpenAll(storeId, writable: false).Where(file => file.Header is not null).OrderBy(file => file.Header?.Use)];
    }

    /// <summary>The journal use of the frame found last.</summary>
    public long Use { get; private set; }

    /// <summary>The payload of the frame found last. Valid until the next one is read.</summary>
    public ReadOnlyMemory<byte> Payload { get; private set; }

    /// <summary>
    /// Returns the frames from transaction <paramref name="from"/> up to <paramref name="end"/>, in order. Stops early if one
    /// is missing.
    /// </summary>
    public IEnumerable<FrameHeader> From(long from, long end)
    {
        for (int i = First(from); i < _uses.Count && from <= end; i++)
        {
            JournalFile file = _uses[i];
            JournalFileHeader use = file.Header!.Value; // files without a header were left out
            long offset = JournalFileHeader.BlockBytes, number = use.FirstFrame;
            while (from <= end && TryRead(file, offset, number, from, i, out FrameHeader frame, out bool isWanted))
            {
                offset += FrameHeader.FrameBytes(frame.PayloadBytes);
                number++;
                if (!isWanted)
                    continue;

                Use = use.Use;
                from = frame.LastTransaction + 1;
                yield return frame;
            }
        }
    }

    /// <summary>Returns the use that contains the frame starting with a transaction, or null if there is none.</summary>
    public long? FindUse(long transaction)
    {
        foreach (FrameHeader _ in From(transaction, transaction))
            return Use;
        return null;
    }

    public void Dispose()
    {
        System.Security.Cryptography.CryptographicOperations.ZeroMemory(_frame);
        _files.Dispose();
    }

    /// <summary>
    /// Returns the index of the use to start with: the last one whose first frame starts at or before a transaction. Earlier
    /// uses, which may be kept for other readers, are not read.
    /// </summary>
    private int First(long from)
    {
        Span<byte> head = stackalloc byte[FrameHeader.SizeBytes];
        for (int i = _uses.Count - 1; i > 0; i--)
        {
            JournalFile file = _uses[i];
            if (file.File.Read(head, JournalFileHeader.BlockBytes) == head.Length
                & FrameHeader.TryRead(head, out FrameHeader frame)
                && frame.Salt == file.Header?.Salt && frame.Frame == file.Header?.FirstFrame && frame.FirstTransaction <= from)
                return i;
        }

        return 0;
    }

    /// <summary>
    /// Reads the frame at an offset. Only the header is read if the frame is before the wanted one. After recovery the journal
    /// continues in a new use, which states its first frame; frames beyond that number in the previous use are invalid.
    /// </summary>
    private bool TryRead(
        JournalFile file, long offset, long number, long from, int index, out FrameHeader frame, out bool isWanted)
    {
        isWanted = false;
        Span<byte> head = stackalloc byte[FrameHeader.SizeBytes];
        bool isThere = file.File.Read(head, offset) == head.Length & FrameHeader.TryRead(head, out frame);
        if (!isThere
            || frame.Salt != file.Header?.Salt
            || frame.Frame != number
            || (index + 1 < _uses.Count && number > _uses[index + 1].Header?.FirstFrame))
            return false;
        if (frame.LastTransaction < from)
            return true;

        ulong hash = 0;
        if (frame.FirstTransaction != from || !JournalReader.TryReadWhole(file, offset, ref _frame, out frame, ref hash))
            return false;

        Memory<byte> whole = _frame.AsMemory(0, FrameHeader.SizeBytes + frame.PayloadBytes);
        if (_cipher is not null)
        {
            using FrameCipher opener = _cipher.NewFrameCipher(file.Header!.Value); // compared above
            if (!frame.IsEncrypted || !opener.TryOpen(whole.Span))
                return false;
        }

        Payload = whole[FrameHeader.SizeBytes..];
        return isWanted = true;
    }
}
