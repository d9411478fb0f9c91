using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>The roots of a state and the other values its meta page needs.</summary>
internal readonly record struct RestoredState(
    long Commit, long CommitMs, TreeRecord Catalogue, TreeRecord System, uint NextTreeId, long PageCount);
