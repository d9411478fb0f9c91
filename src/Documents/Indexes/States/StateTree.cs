namespace Treepie.Indexes.States;

/// <summary>
/// A part of the state of a reduce: ordered keys with values. Spans live until the next change. Not thread-safe.
/// </summary>
internal abstract class StateTree
{
    public abstract bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);

    public abstract void Delete(ReadOnlySpan<byte> key);

    /// <summary>What begins with some bytes and is not smaller than a key, in order, as long as it is wanted.</summary>
    /// <param name="from">The least key.</param>
    /// <param name="isWanted">Given key and value; false ends it. It changes nothing of the tree.</param>
    public abstract void Scan(ReadOnlySpan<byte> from, StateVisitor isWanted);
}

/// <summary>Looks at a key and its value; false: no more.</summary>
internal delegate bool StateVisitor(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);
