using System.Buffers.Binary;
using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Queries;

/// <summary>
/// Orders by the position of a value in a list, ignoring case. Values that are not in the list come last, or first, ordered by
/// their text. Immutable.
/// </summary>
public sealed class ListOrder : ICustomOrder
{
    private const ushort Front = 0, Back = ushort.MaxValue;

    private readonly Dictionary<byte[], ushort> _positions = new(TermEquality.Instance);
    private readonly Dictionary<byte[], ushort>.AlternateLookup<ReadOnlySpan<byte>> _lookup;
    private readonly ushort _others;

    /// <summary>Creates the order.</summary>
    /// <param name="name">Its name, for plans.</param>
    /// <param name="values">The values, at most 65,534. If a value is listed twice, its first position counts.</param>
    /// <param name="othersFirst">Whether values that are not in the list come first.</param>
    public ListOrder(string name, IReadOnlyList<string> values, bool othersFirst = false)
    {
        ArgumentNullException.ThrowIfNull(values);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(values.Count, (int)Back, nameof(values));
        Name = name;
        _others = othersFirst ? Front : Back;

        // Folded for fields that ignore case; as written for those that keep it.
        for (int i = 0; i < values.Count; i++)
        {
            byte[] text = Encoding.UTF8.GetBytes(values[i]);
            _positions.TryAdd(CaseFolding.FoldFully(text), (ushort)(i + 1));
            _positions.TryAdd(text, (ushort)(i + 1));
        }

        _lookup = _positions.GetAlternateLookup<ReadOnlySpan<byte>>();
    }

    /// <inheritdoc/>
    public string Name { get; }

    /// <inheritdoc/>
    public int WriteKey(SortValue value, Span<byte> key)
    {
        if (_lookup.TryGetValue(value.Text, out ushort position))
        {
            BinaryPrimitives.WriteUInt16BigEndian(key, position);
            return sizeof(ushort);
        }

        BinaryPrimitives.WriteUInt16BigEndian(key, _others);
        ReadOnlySpan<byte> text = value.Text[..Math.Min(value.Text.Length, key.Length - sizeof(ushort))];
        text.CopyTo(key[sizeof(ushort)..]);
        return sizeof(ushort) + text.Length;
    }
}
