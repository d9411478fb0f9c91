using System.Buffers.Binary;
using System.Diagnostics;
using System.Security.Cryptography;

namespace Treepie.Storage.Backups;

/// <summary>
/// Reads a backup part sequentially, in the memory of one frame. Returns a frame only if its checksum matches and it is the
/// next one of this part, and the end only if nothing is missing and nothing follows. One caller at a time.
/// </summary>
internal sealed class BackupPartReader : IDisposable
{
    private readonly Stream _source;
    private readonly string _name;
    private readonly byte[] _frame = GC.AllocateUninitializedArray<byte>(
        PartFormat.FrameHeadBytes + PartFormat.MaxContentBytes, pinned: true);
    private BackupHash? _hash;
    private uint _mark;
    private long _frames;
    private long _bytes;
    private int _contentBytes;

    private BackupPartReader(Stream source, string name)
    {
        _source = source;
        _name = name;
        Header = null!; // set by OpenAsync
    }

    /// <summary>The header of the part.</summary>
    public BackupPartHeader Header { get; private set; }

    /// <summary>The name used in messages.</summary>
    public string Name => _name;

    /// <summary>The content of the frame read last. Valid until the next is read.</summary>
    public Span<byte> Content => _frame.AsSpan(PartFormat.FrameHeadBytes, _contentBytes);

    /// <summary>The hash of the part, in hexadecimal. Empty until the end is read.</summary>
    public string Hash { get; private set; } = "";

    /// <summary>Reads the header. Disposing the reader closes the source.</summary>
    /// <exception cref="BackupPartException">It is not a part, has a newer format, is damaged or truncated.</exception>
    public static async Task<BackupPartReader> OpenAsync(Stream source, string name, CancellationToken cancellationToken)
    {
        var reader = new BackupPartReader(source, name);
        try
        {
            await reader.ReadHeaderAsync(cancellationToken).ConfigureAwait(false);
            return reader;
        }
        catch
        {
            reader.Dispose();
            throw;
        }
    }

    /// <summary>Reads the next frame. When it returns the end, the whole part has been verified.</summary>
    /// <exception cref="BackupPartException">The part is not intact.</exception>
    public async ValueTask<PartFrameKind> ReadAsync(CancellationToken cancellationToken)
    {
        byte[]? before = null;
        int read = await FillAsync(0, PartFormat.FrameHeadBytes, cancellationToken).ConfigureAwait(false);
        if (read < PartFormat.FrameHeadBytes)
            throw CutOff();

        PartFrameKind kind = ReadHead();
        if (kind == PartFrameKind.End)
            before = _hash!.GetCurrentHash(); // set by OpenAsync
        if (await FillAsync(PartFormat.FrameHeadBytes, _contentBytes, cancellationToken).ConfigureAwait(false) < _contentBytes)
            throw CutOff();

        CheckFrame();
        if (before is not null)
        {
            CheckEnd(before);
            if (await FillAsync(0, 1, cancellationToken).ConfigureAwait(false) > 0)
                throw new BackupPartException(
                    BackupPartFault.Appended, $"'{_name}' has bytes after its end: something was appended. Take another copy.");
            return kind;
        }

        int length = PartFormat.FrameHeadBytes + _contentBytes;
        _hash!.Append(_frame.AsSpan(0, length)); // set by OpenAsync
        _bytes += length;
        _frames++;
        return kind;
    }

    /// <summary>Returns the exception for contradictory content.</summary>
    public BackupPartException Inconsistent(string what) =>
        new(BackupPartFault.Inconsistent, $"'{_name}' is inconsistent: {what}. Take another copy, or another backup.");

    public void Dispose()
    {
        _hash?.Dispose();
        _source.Dispose();
        CryptographicOperations.ZeroMemory(_frame);
    }

    private async Task ReadHeaderAsync(CancellationToken cancellationToken)
    {
        int read = await FillAsync(0, PartFormat.HeadBytes, cancellationToken).ConfigureAwait(false);
        if (read < PartFormat.HeadBytes
            && (read == 0 || PartFormat.Magic.StartsWith(_frame.AsSpan(0, Math.Min(read, PartFormat.Magic.Length)))))
            throw CutOff();

        int length = BackupPartHeader.ReadLength(_frame.AsSpan(0, read), _name) + PartFormat.MarkBytes;
        byte[] header = new byte[PartFormat.HeadBytes + length];
        _frame.AsSpan(0, PartFormat.HeadBytes).CopyTo(header);
        if (await _source.ReadAtLeastAsync(
            header.AsMemory(PartFormat.HeadBytes), length, throwOnEndOfStream: false,
            cancellationToken).ConfigureAwait(false) < length)
            throw CutOff();

        Header = BackupPartHeader.Read(header, _name, out _mark);
        _hash = new BackupHash(BackupPartHeader.HashOf(header));
        _hash.Append(header);
        _bytes = header.Length;
    }

    private PartFrameKind ReadHead()
    {
        var frame = new PartFrame(_frame);
        _contentBytes = frame.ContentBytes;
        if (_contentBytes is < 0 or > PartFormat.MaxContentBytes)
            throw Damaged($"frame {_frames} has an impossible length ({_contentBytes} bytes)");
        return frame.Kind == PartFrameKind.End && _contentBytes != PartFormat.EndBytes
            ? throw Damaged($"its end has {_contentBytes} bytes")
            : frame.Kind;
    }

    private void CheckFrame()
    {
        var frame = new PartFrame(_frame);
        if (frame.ComputeChecksum() != frame.Checksum)
            throw Damaged($"frame {_frames} has a checksum that does not match its content");
        if (frame.Mark != _mark)
            throw new BackupPartException(
                BackupPartFault.FrameForeign,
                $"Frame {_frames} of '{_name}' is of another part: it was put together from several. Take another copy.");
        if (frame.Number != _frames)
            throw new BackupPartException(
                BackupPartFault.FrameMisplaced,
                $"Frame {_frames} of '{_name}' is missing: frame {frame.Number} is in its place. Frames were reordered or "
                    + $"left out. Take another copy.");
    }

    private void CheckEnd(byte[] hash)
    {
        Debug.Assert(_contentBytes == PartFormat.EndBytes, "the head of the end has been checked");
        if (BinaryPrimitives.ReadInt64LittleEndian(Content) != _frames
            || BinaryPrimitives.ReadInt64LittleEndian(Content[8..]) != _bytes)
            throw Damaged("its end does not match its frames");
        if (!Content.Slice(16, PartFormat.HashBytes).SequenceEqual(hash))
            throw Damaged("its hash does not match its content");
        Hash = Convert.ToHexStringLower(hash);
    }

    private async ValueTask<int> FillAsync(int from, int count, CancellationToken cancellationToken) =>
        count == 0
            ? 0
            : await _source.ReadAtLeastAsync(_frame.AsMemory(from, count), count, throwOnEndOfStream: false, cancellationToken)
                .ConfigureAwait(false);

    private BackupPartException CutOff() => new(BackupPartFault.CutOff, _mark == 0 && _frames == 0
        ? $"'{_name}' is cut off within its header. Take another copy."
        : $"'{_name}' is cut off within frame {_frames}, and has no end. Take another copy.");

    private BackupPartException Damaged(string what) =>
        new(BackupPartFault.Damaged, $"'{_name}' is damaged: {what}. Take another copy.");
}
