using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>Roots of a state, and what else a meta page says of it.</summary>
internal readonly record struct RestoredState(
    long Commit, long CommitMs, TreeRecord Catalogue, TreeRecord System, uint NextTreeId, long PageCount);
