using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>Stores or deletes a compare-exchange value if it has the expected index.</summary>
/// <param name="key">The key as given.</param>
/// <param name="keyUtf8">The key in UTF-8.</param>
/// <param name="expectedIndex">The expected index; 0: the value must not exist.</param>
/// <param name="value">The value in its stored form; null: deletes it.</param>
internal sealed class CompareExchangeCommand(string key, byte[] keyUtf8, long expectedIndex, byte[]? value) : KindCommand
{
    private readonly byte[] _treeKey = CompareExchangeValue.TreeKey(keyUtf8);

    public override bool IsDelete => value is null;

    public override KindResult Apply(IKindHost host)
    {
        CompareExchangeValue? existing = host.Kinds.TryGet(_treeKey, out KindRecord record)
            ? CompareExchangeValue.Read(record, host.ChangeVectors)
            : null;
        if (value is null && existing is null)
            // there is nothing to delete
            return new CompareExchangeResult(key, host.NextEtag(), null, IsSuccessful: true) { IsDeletion = IsDelete };
        if ((existing?.Index ?? 0) != expectedIndex)
            return new CompareExchangeResult(key, existing?.Index ?? 0, existing, IsSuccessful: false) { IsDeletion = IsDelete };

        long etag = host.NextEtag();
        if (value is null)
        {
            host.Kinds.Delete(_treeKey, etag, host.NowTicks);
            return new CompareExchangeResult(key, etag, existing, IsSuccessful: true) { IsDeletion = IsDelete };
        }

        host.Kinds.Put(_treeKey, keyUtf8, value, etag, host.NowTicks);
        host.Kinds.TryGet(_treeKey, out record);
        return new CompareExchangeResult(key, etag, CompareExchangeValue.Read(record, host.ChangeVectors), IsSuccessful: true)
        {
            IsDeletion = IsDelete
        };
    }

    public override ClusterConflict? Conflict(IKindHost host)
    {
        long actual = host.Kinds.TryGet(_treeKey, out KindRecord record) ? record.Etag : 0;
        return actual == expectedIndex || (value is null && actual == 0)
            ? null
            : new ClusterConflict(key, IsDocument: false, expectedIndex, actual);
    }
}
