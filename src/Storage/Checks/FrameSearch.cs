using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Checks;

/// <summary>
/// Finds the frames that led to the newest state when no meta page tells where they begin. Scans every block of every journal
/// file. The valid frame with the highest number is the newest; each frame holds the hash of its predecessor, so the chain is
/// followed back to the oldest frame left. File headers are not needed for this, and frames left from earlier uses of a file
/// can only lengthen the chain.
/// </summary>
internal sealed class FrameSearch(IFileSystem files, Action<string, string> report)
{
    private const int ScanBytes = 1 << 20;

    /// <summary>
    /// Bytes that may be read for invalid frames, as a multiple of the file length. Without a limit, blocks that claim long
    /// frames would make the scan quadratic.
    /// </summary>
    private const int MaxWaste = 64;

    private readonly Dictionary<(long Frame, ulong Hash), FoundFrame> _whole = [];
    private readonly HashSet<Guid> _stores = [];
    private readonly Dictionary<string, JournalFileHeader> _headers = [];
    private FoundFrame? _newest;
    private byte[] _frame = [];

    /// <summary>Returns the newest frame and its predecessors, oldest first, or an empty list if there is none.</summary>
    public IReadOnlyList<FoundFrame> Run()
    {
        foreach (string name in files.List().Where(IsJournal).Order(StringComparer.Ordinal))
        {
            try
            {
                using IFile file = files.Open(name, create: false, writable: false);
                Scan(file);
            }
            catch (Exception error) when (error is IOException or (StorageException and not ForeignDataException))
            {
                report(name, $"It cannot be read: {error.Message}");
            }
        }

        if (_stores.Count > 1)
        {
            report(
                FormatLimits.JournalPrefix + "*" + FormatLimits.JournalSuffix,
                $"They belong to {_stores.Count} stores, and nothing says which of them is this one: none is read. Take the "
                    + $"foreign ones out and salvage again.");
            return [];
        }

        var chain = new List<FoundFrame>();
        for (FoundFrame? frame = _newest is { } newest && IsReadable(newest) ? newest : null;
             frame is not null;
             frame = Before(frame))
            chain.Add(frame);
        chain.Reverse();
        return chain;
    }

    /// <summary>
    /// Returns the store and the wrapped keys of the newest frame, or null if it is not encrypted or no frame was found.
    /// </summary>
    public (Guid StoreId, KeyBlock Keys)? FindKeys() =>
        _newest is { } newest && _headers.TryGetValue(newest.File, out JournalFileHeader header) && header.Keys is { } keys
            ? (header.StoreId, keys)
            : null;

    /// <summary>
    /// Returns the journal use that followed that of the newest frame, if its file records one. The frames of that use were
    /// acknowledged and are lost.
    /// </summary>
    public long? FindLostUse()
    {
        if (_newest is not { } newest)
            return null;

        using IFile file = files.Open(newest.File, create: false, writable: false);
        var block = new byte[JournalNextUse.BlockBytes];
        long offset = JournalNextUse.OffsetIn(file.Length);
        return offset > 0 && file.Read(block, offset) == block.Length && JournalNextUse.TryRead(block, out JournalNextUse next)
            && next.Salt == newest.Header.Salt && next.FirstFrame > newest.Header.Frame ? next.Use : null;
    }

    /// <summary>Returns the payload of a frame. It is valid until the next call.</summary>
    public ReadOnlySpan<byte> ReadPayload(FoundFrame frame, StoreCipher? cipher)
    {
        using IFile file = files.Open(frame.File, create: false, writable: false);
        return TryReadWhole(file, frame.Offset, frame.Header, out _) && TryDecrypt(frame, cipher)
            ? _frame.AsSpan(FrameHeader.SizeBytes, frame.Header.PayloadBytes)
            : throw new CorruptionException(
                $"Frame {frame.Header.Frame} of '{Path.Combine(files.Path, frame.File)}' was whole and is no longer.");
    }

    private bool TryDecrypt(FoundFrame frame, StoreCipher? cipher)
    {
        if (cipher is null)
            return true;

        using FrameCipher opener = cipher.NewFrameCipher(_headers[frame.File]); // IsReadable was checked
        return opener.TryOpen(_frame.AsSpan(0, FrameHeader.SizeBytes + frame.Header.PayloadBytes));
    }

    /// <summary>
    /// Whether a frame can be read. A frame left from an earlier use of a file has lost its file header and, if encrypted,
    /// its key.
    /// </summary>
    private bool IsReadable(FoundFrame frame) =>
        !frame.Header.IsEncrypted
            || (_headers.TryGetValue(frame.File, out JournalFileHeader header) && header.Salt == frame.Header.Salt);

    private static bool IsJournal(string name) =>
        name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal)
            && name.EndsWith(FormatLimits.JournalSuffix, StringComparison.Ordinal);

    private FoundFrame? Before(FoundFrame frame) =>
        _whole.TryGetValue((frame.Header.Frame - 1, frame.Header.PreviousHash), out FoundFrame? before)
            && before.Header.LastTransaction + 1 == frame.Header.FirstTransaction
            && IsReadable(before) ? before : null;

    private void Scan(IFile file)
    {
        var chunk = new byte[ScanBytes];
        ulong salt = 0;
        if (file.Read(chunk.AsSpan(0, JournalFileHeader.BlockBytes), 0) == JournalFileHeader.BlockBytes
            && JournalFileHeader.TryRead(
                chunk.AsSpan(0, JournalFileHeader.BlockBytes), Path.Combine(files.Path, file.Name), out JournalFileHeader use))
        {
            _stores.Add(use.StoreId);
            _headers[file.Name] = use;
            salt = use.Salt;
        }

        long length = file.Length, waste = MaxWaste * length, end = 0;
        for (long start = 0; start < length; start += chunk.Length)
        {
            int read = file.Read(chunk, start);
            for (int at = 0; at + FrameHeader.SizeBytes <= read; at += FrameHeader.AlignmentBytes)
            {
                long offset = start + at;
                if (offset < end
                    || !FrameHeader.TryRead(chunk.AsSpan(at), out FrameHeader header)
                    || header.PayloadBytes > Math.Min(length - offset, waste) - FrameHeader.SizeBytes)
                    continue;
                if (!TryReadWhole(file, offset, header, out ulong hash) || header.LastTransaction < header.FirstTransaction)
                {
                    waste -= header.PayloadBytes;
                    continue;
                }

                end = offset + FrameHeader.FrameBytes(header.PayloadBytes);
                Add(new FoundFrame(file.Name, offset, header), hash, isCurrent: header.Salt == salt);
            }
        }
    }

    /// <summary>
    /// Adds a frame. Recovery writes the last frame it found again, so two frames may have the same number. Either is valid;
    /// the one of the file's current use is the later one.
    /// </summary>
    private void Add(FoundFrame frame, ulong hash, bool isCurrent)
    {
        _whole[(frame.Header.Frame, hash)] = frame;
        if (_newest is null
            || frame.Header.Frame > _newest.Header.Frame
            || (frame.Header.Frame == _newest.Header.Frame && isCurrent))
            _newest = frame;
    }

    private bool TryReadWhole(IFile file, long offset, FrameHeader header, out ulong hash)
    {
        hash = 0;
        int length = FrameHeader.SizeBytes + header.PayloadBytes;
        if (_frame.Length < length)
            _frame = new byte[(int)Math.Min(Array.MaxLength, Math.Max(length, 2L * _frame.Length))];
        Span<byte> frame = _frame.AsSpan(0, length);
        return file.Read(frame, offset) == length && FrameHeader.TryOpen(frame, out hash);
    }

    /// <summary>A valid frame and its location.</summary>
    internal sealed record FoundFrame(string File, long Offset, FrameHeader Header);
}
