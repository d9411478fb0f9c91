using System.Buffers.Binary;
using System.Text;
using Treepie.Indexing.Analysis;

namespace Treepie.Indexing.Queries;

/// <summary>
/// Orders by the position of a value in a list, without regard to case; values that are not in the list by their texts, behind
/// all others or in front of them. Immutable.
/// </summary>
public sealed class ListOrder : ICustomOrder
{
    private const ushort Front = 0, Back = ushort.MaxValue;

    private readonly Dictionary<byte[], ushort> _positions = new(Bytes.Instance);
    private readonly Dictionary<byte[], ushort>.AlternateLookup<ReadOnlySpan<byte>> _lookup;
    private readonly ushort _others;

    /// <summary>Creates the order.</summary>
    /// <param name="name">Its name, for plans.</param>
    /// <param name="values">The values, at most 65,534. Of a value given twice the first position counts.</param>
    /// <param name="othersFirst">Whether values that are not in the list come first.</param>
    public ListOrder(string name, IReadOnlyList<string> values, bool othersFirst = false)
    {
        ArgumentNullException.ThrowIfNull(values);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(values.Count, (int)Back, nameof(values));
        Name = name;
        _others = othersFirst ? Front : Back;

        // Folded for most fields; as written for those that keep case.
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

    private sealed class Bytes : IEqualityComparer<byte[]>, IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
    {
        public static readonly Bytes Instance = new();

        public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

        public int GetHashCode(byte[] obj) => GetHashCode(obj.AsSpan());

        public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();

        public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

        public int GetHashCode(ReadOnlySpan<byte> alternate)
        {
            var hash = default(HashCode);
            hash.AddBytes(alternate);
            return hash.ToHashCode();
        }
    }
}
