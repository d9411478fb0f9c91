using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// Builds a sort key: bytes whose order is the requested one, for any kinds and directions of its parts. A part is a rank (0
/// for nulls first, 1 for values, 2 for nulls last) and the value: the eight bytes of a number, or a text in which 0 becomes
/// 0 1, ended by 0 0. In a descending part every byte of the value is inverted. The last part is the entry id, so no two
/// keys are equal.
/// </summary>
internal sealed class KeyBuffer
{
    private byte[] _bytes = new byte[128];

    public int Length { get; private set; }

    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Length);

    public void Clear() => Length = 0;

    /// <summary>Truncates the key.</summary>
    public void CutTo(int length)
    {
        Debug.Assert(length >= 0 && length <= Length, "a key is cut, not extended");
        Length = length;
    }

    public void Append(byte value)
    {
        Room(1)[0] = value;
        Length++;
    }

    public void Append(ulong value)
    {
        BinaryPrimitives.WriteUInt64BigEndian(Room(sizeof(ulong)), value);
        Length += sizeof(ulong);
    }

    public void AppendText(ReadOnlySpan<byte> text)
    {
        while (true)
        {
            int zero = text.IndexOf((byte)0);
            ReadOnlySpan<byte> run = zero < 0 ? text : text[..zero];
            run.CopyTo(Room(run.Length));
            Length += run.Length;
            if (zero < 0)
                return;

            Append(0);
            Append(1);
            text = text[(zero + 1)..];
        }
    }

    /// <summary>
    /// Appends a text in which runs of digits compare as numbers: a run is written as the digit 0, the number of significant
    /// digits (4 bytes), and these digits. A run thus sorts like a digit among other characters, and 9 before 10. Leading
    /// zeros are ignored. The last part of an id such as <c>items/-12</c> is a negative number: its run is written inverted, so
    /// that -5 sorts before -1.
    /// </summary>
    public void AppendAlphaNumeric(ReadOnlySpan<byte> text)
    {
        int number = text.LastIndexOf("/-"u8) + 2;
        if (number < 2 || number == text.Length || text[number..].ContainsAnyExceptInRange((byte)'0', (byte)'9'))
        {
            AppendRuns(text);
            return;
        }

        AppendRuns(text[..number]);
        int start = Length;
        AppendRuns(text[number..]);
        Flip(start);
    }

    private void AppendRuns(ReadOnlySpan<byte> text)
    {
        while (!text.IsEmpty)
        {
            int digits = text.IndexOfAnyExceptInRange((byte)'0', (byte)'9');
            if (digits < 0)
                digits = text.Length;
            if (digits > 0)
            {
                ReadOnlySpan<byte> run = text[..digits].TrimStart((byte)'0');
                Append((byte)'0');
                for (int shift = 24; shift >= 0; shift -= 8)
                    Append((byte)(run.Length >> shift));
                AppendText(run);
                text = text[digits..];
                continue;
            }

            int others = text.IndexOfAnyInRange((byte)'0', (byte)'9');
            if (others < 0)
                others = text.Length;
            AppendText(text[..others]);
            text = text[others..];
        }
    }

    public void EndText()
    {
        Append(0);
        Append(0);
    }

    /// <summary>Inverts all bytes from an index on.</summary>
    public void Flip(int start)
    {
        foreach (ref byte value in _bytes.AsSpan(start, Length - start))
            value = (byte)~value;
    }

    private Span<byte> Room(int lengthBytes)
    {
        if (_bytes.Length - Length < lengthBytes)
            Array.Resize(ref _bytes, Math.Max(Length + lengthBytes, _bytes.Length * 2));
        return _bytes.AsSpan(Length);
    }
}
