using System.Diagnostics.CodeAnalysis;

namespace Treepie.Storage.Sessions;

/// <summary>
/// The reads of one tree by a session: keys, whether they exist or not, and ranges. Values are not stored, since the snapshot
/// still has them.
/// </summary>
internal sealed class ReadSet
{
    /// <summary>Bytes of memory per key in addition to the key: its entry in the hash table.</summary>
    public const int KeyOverheadBytes = 64;

    /// <summary>Bytes of memory per range in addition to its bounds.</summary>
    public const int RangeOverheadBytes = 128;

    private readonly HashSet<ReadOnlyMemory<byte>> _keys;
    private readonly HashSet<ReadOnlyMemory<byte>>.AlternateLookup<ReadOnlySpan<byte>> _lookup;
    private readonly List<ReadRange> _ranges = [];
    private readonly SessionArena _arena;

    public ReadSet(SessionArena arena)
    {
        _arena = arena;
        _keys = new HashSet<ReadOnlyMemory<byte>>(new KeyComparer(arena));
        _lookup = _keys.GetAlternateLookup<ReadOnlySpan<byte>>();
    }

    /// <summary>The ranges read.</summary>
    public IReadOnlyList<ReadRange> Ranges => _ranges;

    /// <summary>Number of keys and ranges.</summary>
    public int Count => _keys.Count + _ranges.Count;

    /// <summary>Whether a key is recorded.</summary>
    public bool Contains(scoped ReadOnlySpan<byte> key) => _lookup.Contains(key);

    /// <summary>Records a key.</summary>
    public void Add(scoped ReadOnlySpan<byte> key) => _lookup.Add(key);

    /// <summary>Records a range, copying its bounds.</summary>
    public void Add(in ReadRange range) => _ranges.Add(range with
    {
        Low = range.Low is { } low ? _arena.Copy(low.Span) : default(ReadOnlyMemory<byte>?),
        High = range.High is { } high ? _arena.Copy(high.Span) : default(ReadOnlyMemory<byte>?),
    });

    /// <summary>Returns the keys in order, so that validation visits pages in order.</summary>
    public ReadOnlyMemory<byte>[] SortKeys()
    {
        ReadOnlyMemory<byte>[] keys = [.. _keys];
        Array.Sort(keys, static (left, right) => left.Span.SequenceCompareTo(right.Span));
        return keys;
    }

    private sealed class KeyComparer(SessionArena arena)
        : IEqualityComparer<ReadOnlyMemory<byte>>, IAlternateEqualityComparer<ReadOnlySpan<byte>, ReadOnlyMemory<byte>>
    {
        public bool Equals(ReadOnlyMemory<byte> left, ReadOnlyMemory<byte> right) => left.Span.SequenceEqual(right.Span);

        public bool Equals(ReadOnlySpan<byte> alternate, ReadOnlyMemory<byte> other) => alternate.SequenceEqual(other.Span);

        public int GetHashCode([DisallowNull] ReadOnlyMemory<byte> key) => GetHashCode(key.Span);

        public int GetHashCode(ReadOnlySpan<byte> alternate)
        {
            var hash = default(HashCode);
            hash.AddBytes(alternate);
            return hash.ToHashCode();
        }

        public ReadOnlyMemory<byte> Create(ReadOnlySpan<byte> alternate) => arena.Copy(alternate);
    }
}
