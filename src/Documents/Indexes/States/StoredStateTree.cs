using Treepie.Storage.Trees;

namespace Treepie.Indexes.States;

/// <summary>A tree of the state in the index's store, within a write transaction.</summary>
internal sealed class StoredStateTree(Tree tree) : StateTree
{
    public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => tree.TryGet(key, out value);

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => tree.Put(key, value);

    public override void Delete(ReadOnlySpan<byte> key) => tree.Delete(key);

    public override void Scan(ReadOnlySpan<byte> from, StateVisitor isWanted)
    {
        using Cursor cursor = tree.OpenCursor();
        for (bool more = cursor.Seek(from); more && isWanted(cursor.Key, cursor.Value);)
            more = cursor.MoveNext();
    }
}
