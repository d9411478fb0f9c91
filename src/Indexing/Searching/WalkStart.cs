using System.Buffers.Binary;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Where a walk begins: at the first value, or at that of the hit to continue after, whose sort key is decoded into a value.
/// The rest of the sort key decides which entries of that value were already returned.
/// </summary>
internal sealed class WalkStart
{
    private readonly SortKey _sort;
    private readonly byte[] _value = [];
    private readonly long _whole;

    /// <param name="sort">The first key of the order.</param>
    /// <param name="after">The whole sort key of the hit to continue after; empty to begin with the first.</param>
    public WalkStart(SortKey sort, ReadOnlyMemory<byte> after)
    {
        _sort = sort;
        if (after.IsEmpty)
            return;

        byte rank = after.Span[0];
        IsAtValue = rank == KeyPart.ValueRank;
        IsAtLastNulls = rank == KeyPart.NullsLastRank;
        int length = 1;
        if (IsAtValue && sort.Kind == SortKind.Text)
        {
            (_value, int bytes) = ReadText(after.Span[1..], sort.Descending);
            length += bytes;
        }
        else if (IsAtValue && after.Length > sizeof(ulong))
        {
            ulong bits = BinaryPrimitives.ReadUInt64BigEndian(after.Span[1..]);
            bits = sort.Descending ? ~bits : bits;
            _whole = (long)(bits ^ (1UL << 63));
            _value = new byte[sizeof(ulong)];
            BinaryPrimitives.WriteUInt64BigEndian(_value, bits);
            length += sizeof(ulong);
        }

        Rest = after[length..];
    }

    /// <summary>Whether the walk continues at a value; everything before all values was already returned.</summary>
    public bool IsAtValue { get; }

    /// <summary>Whether the walk continues among nulls sorted last; all values were already returned.</summary>
    public bool IsAtLastNulls { get; }

    /// <summary>The text to continue at, if the order is by texts.</summary>
    public ReadOnlySpan<byte> Text => _value;

    /// <summary>
    /// The sort key after its first part: entries with the same first value up to it were already returned.
    /// </summary>
    public ReadOnlyMemory<byte> Rest { get; }

    /// <summary>Positions a cursor on the first value of the walk; false if there is none.</summary>
    public bool Begin(TermCursor cursor)
    {
        if (!IsAtValue)
            return _sort.Descending ? cursor.MoveLast() : cursor.MoveFirst();
        if (_sort.Kind == SortKind.Long)
            return BeginLong(cursor);
        if (!_sort.Descending)
            return cursor.Seek(_value);

        // The greatest key not above the value. Keys of a double have two more bytes.
        byte[] above = _sort.Kind == SortKind.Double ? [.. _value, byte.MaxValue, byte.MaxValue] : _value;
        return cursor.Seek(above) ? cursor.Key.SequenceEqual(above) || cursor.MovePrevious() : cursor.MoveLast();
    }

    /// <summary>Whether a key of the dictionary has the value to continue at.</summary>
    public bool IsSame(ReadOnlySpan<byte> found) => !IsAtValue || _sort.Kind switch
    {
        SortKind.Text => found.SequenceEqual(_value),
        SortKind.Double => found[..sizeof(ulong)].SequenceEqual(_value),
        _ => NumberKey.ToSaturatedLong(found) == _whole,
    };

    /// <summary>
    /// Positions a cursor on the numbers that sort as one long. They begin after the previous long, and the extreme longs
    /// stand for everything beyond them.
    /// </summary>
    private bool BeginLong(TermCursor cursor)
    {
        bool valid;
        if (_whole is long.MinValue or long.MaxValue)
        {
            valid = _sort.Descending ? cursor.MoveLast() : cursor.MoveFirst();
        }
        else
        {
            byte[] near = new byte[NumberKey.Bytes];
            NumberKey.Write(near, _sort.Descending ? _whole + 1 : _whole - 1);
            valid = cursor.Seek(near);
            if (_sort.Descending)
                valid = valid ? cursor.Key.SequenceEqual(near) || cursor.MovePrevious() : cursor.MoveLast();
        }

        while (valid && IsBefore(NumberKey.ToSaturatedLong(cursor.Key)))
            valid = _sort.Descending ? cursor.MovePrevious() : cursor.MoveNext();
        return valid;
    }

    private bool IsBefore(long found) => _sort.Descending ? found > _whole : found < _whole;

    /// <summary>Decodes a text, see <see cref="KeyBuffer"/>: 0 1 stands for 0, and 0 0 is the end.</summary>
    private static (byte[] Text, int Bytes) ReadText(ReadOnlySpan<byte> key, bool isFlipped)
    {
        byte flip = isFlipped ? byte.MaxValue : (byte)0;
        var text = new List<byte>();
        int place = 0;
        while (true)
        {
            if (place + 1 >= key.Length)
                throw new IndexQueryException(
                    "The position to continue from is damaged: its text has no end. Begin with the first page again.");
            byte next = (byte)(key[place++] ^ flip);
            if (next != 0)
            {
                text.Add(next);
                continue;
            }

            if ((byte)(key[place++] ^ flip) == 0)
                return ([.. text], place);
            text.Add(0);
        }
    }
}
