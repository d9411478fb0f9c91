namespace Treepie.Indexes.States;

/// <summary>
/// One tree of the state of a reduce: ordered keys with values. Spans are valid until the next change. Not thread-safe.
/// </summary>
internal abstract class StateTree
{
    public abstract bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);

    public abstract void Delete(ReadOnlySpan<byte> key);

    /// <summary>Visits the keys from a given one on, in order, until the visitor returns false.</summary>
    /// <param name="from">The first key.</param>
    /// <param name="isWanted">Visits a key and its value; must not change the tree.</param>
    public abstract void Scan(ReadOnlySpan<byte> from, StateVisitor isWanted);
}

/// <summary>Visits a key and its value; returns false to stop.</summary>
internal delegate bool StateVisitor(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);
