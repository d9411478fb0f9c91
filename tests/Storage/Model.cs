using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Tests;

/// <summary>The expected content of an environment: sorted trees of byte strings, kept in memory.</summary>
internal sealed class Model
{
    private readonly SortedDictionary<string, SortedDictionary<byte[], byte[]>> _trees;

    public Model() => _trees = new(StringComparer.Ordinal);

    private Model(Model other)
        : this()
    {
        foreach ((string name, SortedDictionary<byte[], byte[]> tree) in other._trees)
            _trees.Add(name, new(tree, ByteOrder.Instance));
    }

    public IReadOnlyDictionary<string, SortedDictionary<byte[], byte[]>> Trees => _trees;

    public Model Copy() => new(this);

    public SortedDictionary<byte[], byte[]> Tree(string name)
    {
        if (!_trees.TryGetValue(name, out SortedDictionary<byte[], byte[]>? tree))
            _trees.Add(name, tree = new(ByteOrder.Instance));
        return tree;
    }

    public bool Drop(string name) => _trees.Remove(name);

    /// <summary>Fails unless a snapshot has exactly this content, read forwards, backwards and by key.</summary>
    public void AssertEqual(ReadTransaction read)
    {
        Assert.Equal(_trees.Keys, read.TreeNames);
        foreach ((string name, SortedDictionary<byte[], byte[]> expected) in _trees)
        {
            Tree tree = read.FindTree(name) ?? throw new InvalidOperationException(name);
            Assert.Equal(expected.Count, tree.Count);
            using Cursor cursor = tree.OpenCursor();
            bool more = cursor.MoveFirst();
            foreach ((byte[] key, byte[] value) in expected)
            {
                Assert.True(more);
                Assert.True(cursor.Key.SequenceEqual(key));
                Assert.True(cursor.Value.SequenceEqual(value));
                more = cursor.MoveNext();
            }

            Assert.False(more);
            more = cursor.MoveLast();
            foreach ((byte[] key, byte[] value) in expected.Reverse())
            {
                Assert.True(more);
                Assert.True(cursor.Key.SequenceEqual(key));
                Assert.True(tree.TryGet(key, out ReadOnlySpan<byte> found));
                Assert.True(found.SequenceEqual(value));
                more = cursor.MovePrevious();
            }

            Assert.False(more);
        }
    }

    /// <summary>Whether a snapshot has exactly this content.</summary>
    public bool IsEqual(ReadTransaction read)
    {
        if (!_trees.Keys.SequenceEqual(read.TreeNames))
            return false;

        foreach ((string name, SortedDictionary<byte[], byte[]> expected) in _trees)
        {
            Tree tree = read.FindTree(name)!; // it is one of the tree names
            if (tree.Count != expected.Count)
                return false;

            using Cursor cursor = tree.OpenCursor();
            bool more = cursor.MoveFirst();
            foreach ((byte[] key, byte[] value) in expected)
            {
                if (!more || !cursor.Key.SequenceEqual(key) || !cursor.Value.SequenceEqual(value))
                    return false;
                more = cursor.MoveNext();
            }
        }

        return true;
    }

    internal sealed class ByteOrder : IComparer<byte[]>
    {
        public static readonly ByteOrder Instance = new();

        public int Compare(byte[]? x, byte[]? y) => x.AsSpan().SequenceCompareTo(y);
    }
}
