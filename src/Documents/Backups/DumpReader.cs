using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using Treepie.Kernels;

namespace Treepie.Backups;

/// <summary>
/// Splits a dump while reading it: a single JSON object, whose members are read one after another; the elements of array
/// members are read one by one. Only brackets and quotes are examined to find the end of an element; its content is not
/// validated. Memory use is limited to one element, whose size is limited.
/// </summary>
/// <remarks>
/// States: before the object → between members → in an array → between members … → after the object, where only white space
/// may follow.
/// </remarks>
internal sealed class DumpReader(Stream source, int maxElementBytes)
{
    private const int FirstBytes = 256 * 1024;

    private static readonly SearchValues<byte> _endOfScalar = SearchValues.Create(",]} \t\r\n"u8);

    private byte[] _buffer = new byte[FirstBytes];
    private int _start;
    private int _end;
    private long _before;
    private bool _sourceEnded;
    private bool _inObject;
    private bool _inArray;
    private bool _isFirst;
    private bool _over;

    /// <summary>The maximum length of an element.</summary>
    public int MaxElementBytes { get; set; } = maxElementBytes;

    /// <summary>The name of the current member; null before the first.</summary>
    public string? Section { get; private set; }

    /// <summary>The last element read, or the value of a member that is not an array; valid until the next call.</summary>
    public ReadOnlyMemory<byte> Element { get; private set; }

    /// <summary>The number of bytes of JSON read so far.</summary>
    public long Position => _before + _start;

    /// <summary>
    /// Advances to the next member, skipping what has not been read of the current one; returns false at the end of the dump.
    /// </summary>
    /// <exception cref="BackupException">The dump is not a JSON object, is truncated, or is followed by other
    /// data.</exception>
    public async ValueTask<bool> NextSectionAsync(CancellationToken cancellationToken)
    {
        while (_inArray)
            await NextElementAsync(cancellationToken).ConfigureAwait(false);
        if (_over)
            return false;

        byte next = await PeekAsync(cancellationToken).ConfigureAwait(false);
        if (!_inObject)
        {
            next = await BeginAsync(next, cancellationToken).ConfigureAwait(false);
        }
        else if (next == (byte)',')
        {
            _start++;
            next = await PeekAsync(cancellationToken).ConfigureAwait(false);
        }
        else if (next != (byte)'}')
        {
            Fail("',' or '}'", next);
        }

        if (next == (byte)'}')
        {
            _start++;
            await EndAsync(cancellationToken).ConfigureAwait(false);
            return false;
        }

        if (next != (byte)'"')
            Fail("the name of a member", next);
        await ReadValueAsync(cancellationToken).ConfigureAwait(false);
        Section = TextOf(Element.Span);
        next = await PeekAsync(cancellationToken).ConfigureAwait(false);
        if (next != (byte)':')
            Fail("':'", next);
        _start++;
        next = await PeekAsync(cancellationToken).ConfigureAwait(false);
        _inArray = _isFirst = next == (byte)'[';
        if (_inArray)
            _start++;
        else
            await ReadValueAsync(cancellationToken).ConfigureAwait(false);
        return true;
    }

    /// <summary>
    /// Reads the next element of the current array; returns false after the last, or if the member is not an array.
    /// </summary>
    public async ValueTask<bool> NextElementAsync(CancellationToken cancellationToken)
    {
        if (!_inArray)
            return false;

        byte next = await PeekAsync(cancellationToken).ConfigureAwait(false);
        if (next == (byte)']')
        {
            _start++;
            _inArray = false;
            return false;
        }

        if (!_isFirst)
        {
            if (next != (byte)',')
                Fail("',' or ']'", next);
            _start++;
            await PeekAsync(cancellationToken).ConfigureAwait(false);
        }

        _isFirst = false;
        await ReadValueAsync(cancellationToken).ConfigureAwait(false);
        return true;
    }

    /// <summary>Passes on raw bytes that follow an element, in chunks.</summary>
    public async ValueTask ReadRawAsync(
        long count, Func<ReadOnlyMemory<byte>, ValueTask> take, CancellationToken cancellationToken)
    {
        while (count > 0)
        {
            if (_start == _end)
                await FillOrFailAsync(cancellationToken).ConfigureAwait(false);
            int taken = (int)Math.Min(count, _end - _start);
            await take(_buffer.AsMemory(_start, taken)).ConfigureAwait(false);
            _start += taken;
            count -= taken;
        }
    }

    /// <summary>Skips raw bytes that follow an element, such as the content of an attachment.</summary>
    public async ValueTask SkipRawAsync(long count, CancellationToken cancellationToken)
    {
        while (count > 0)
        {
            if (_start == _end)
                await FillOrFailAsync(cancellationToken).ConfigureAwait(false);
            int skipped = (int)Math.Min(count, _end - _start);
            _start += skipped;
            count -= skipped;
        }
    }

    /// <summary>Returns the text of a JSON string.</summary>
    private string TextOf(ReadOnlySpan<byte> json)
    {
        try
        {
            var reader = new Utf8JsonReader(json);
            reader.Read();
            return reader.GetString() ?? "";
        }
        catch (Exception error) when (error is JsonException or InvalidOperationException)
        {
            throw new BackupException(
                BackupFault.Damaged,
                $"The backup is damaged at byte {Position:N0} of its JSON: the name of a member is not a string.", error);
        }
    }

    private async ValueTask<byte> BeginAsync(byte next, CancellationToken cancellationToken)
    {
        if (next == 0xEF && _end - _start >= 3 && _buffer.AsSpan(_start, 3).SequenceEqual("\uFEFF"u8))
        {
            _start += 3; // byte order mark
            next = await PeekAsync(cancellationToken).ConfigureAwait(false);
        }

        if (next != (byte)'{')
            throw new BackupException(BackupFault.NotABackup, "This is no backup: its content is not a JSON object.");
        _start++;
        _inObject = true;
        return await PeekAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Reads to the end of the source, so that decompression and decryption also verify their ends.</summary>
    private async ValueTask EndAsync(CancellationToken cancellationToken)
    {
        _over = true;
        Section = null;
        do
        {
            int other = _buffer.AsSpan(_start, _end - _start).IndexOfAnyExcept(" \t\r\n"u8);
            if (other >= 0)
                throw new BackupException(
                    BackupFault.Damaged,
                    $"Something follows the end of the backup, at byte {Position + other:N0} of its JSON. Take another copy.");
            _start = _end;
        }
        while (await FillAsync(cancellationToken).ConfigureAwait(false));
    }

    /// <summary>Returns the next byte that is not white space, without consuming it.</summary>
    private async ValueTask<byte> PeekAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            int other = _buffer.AsSpan(_start, _end - _start).IndexOfAnyExcept(" \t\r\n"u8);
            if (other >= 0)
                return _buffer[_start += other];

            _start = _end;
            await FillOrFailAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Reads a value that begins at the current position.</summary>
    private async ValueTask ReadValueAsync(CancellationToken cancellationToken)
    {
        byte first = _buffer[_start];
        bool isScalar = first is not ((byte)'{' or (byte)'[' or (byte)'"');
        var scan = new JsonValueScan();
        int length = 0;
        while (true)
        {
            ReadOnlySpan<byte> rest = _buffer.AsSpan(_start + length, _end - _start - length);
            if (isScalar)
            {
                int end = rest.IndexOfAny(_endOfScalar);
                length += end < 0 ? rest.Length : end;
                if (end >= 0 && length == 0)
                    Fail("a value", first);
                if (end >= 0)
                    break;
            }
            else
            {
                length += scan.Read(rest);
                if (scan.IsWhole)
                    break;
            }

            CheckLength(length);
            await FillOrFailAsync(cancellationToken).ConfigureAwait(false);
        }

        CheckLength(length);
        Element = _buffer.AsMemory(_start, length);
        _start += length;
    }

    private void CheckLength(int length)
    {
        if (length > MaxElementBytes)
            throw new BackupException(
                BackupFault.DocumentRefused,
                $"'{Section}' of the backup has an element of more than {MaxElementBytes:N0} bytes, at byte {Position:N0} of its "
                    + $"JSON. Read it with a higher MaxDocumentBytes.");
    }

    private async ValueTask FillOrFailAsync(CancellationToken cancellationToken)
    {
        if (!await FillAsync(cancellationToken).ConfigureAwait(false))
            throw new BackupException(
                BackupFault.CutOff,
                $"The backup is cut off: its JSON ends after {_before + _end:N0} "
                    + $"bytes{(Section is null ? "" : $", within '{Section}'")}. Take another copy.");
    }

    private async ValueTask<bool> FillAsync(CancellationToken cancellationToken)
    {
        if (_sourceEnded)
            return false;
        if (_start > 0 && (_start == _end || _end == _buffer.Length))
        {
            _buffer.AsSpan(_start, _end - _start).CopyTo(_buffer);
            _before += _start;
            _end -= _start;
            _start = 0;
        }

        if (_end == _buffer.Length)
            Array.Resize(ref _buffer, (int)Math.Min(_buffer.Length * 2L, Array.MaxLength));

        cancellationToken.ThrowIfCancellationRequested();
        int read;
        try
        {
            read = await source.ReadAsync(_buffer.AsMemory(_end), cancellationToken).ConfigureAwait(false);
        }
        catch (InvalidDataException error)
        {
            bool isCutOff = error.Message.Contains("cut off", StringComparison.Ordinal);
            throw new BackupException(
                isCutOff ? BackupFault.CutOff : BackupFault.Damaged,
                $"The compressed backup is {(isCutOff ? "cut off" : "damaged")} after byte {_before + _end:N0} of its JSON "
                    + $"({error.Message}). Take another copy.",
                error);
        }

        _sourceEnded = read == 0;
        _end += read;
        return read > 0;
    }

    [DoesNotReturn]
    private void Fail(string expected, byte found) => throw new BackupException(
        BackupFault.Damaged,
        $"The backup is damaged at byte {Position:N0} of its JSON{(Section is null ? "" : $", in '{Section}'")}: {expected} is "
            + $"expected, found {Describe(found)}.");

    private static string Describe(byte found) => found is >= 0x20 and < 0x7F ? $"'{(char)found}'" : $"the byte 0x{found:X2}";
}
