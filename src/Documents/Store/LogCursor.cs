using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// Iterates over documents in the order of a log: of all documents, of one collection, or backwards. Ids written one after
/// another are mostly adjacent, so each search starts where the previous one ended.
/// </summary>
internal sealed class LogCursor : DocumentCursor
{
    private readonly Cursor _documents;
    private readonly DatabaseSnapshot _snapshot;
    private readonly LogReader _log;
    private readonly bool _backwards;

    public LogCursor(DatabaseSnapshot snapshot, LogReader log, bool backwards)
    {
        _snapshot = snapshot;
        _log = log;
        _documents = snapshot.OpenDocuments();
        _backwards = backwards;
    }

    public override Document Current => _snapshot.GetByFoldedId(_documents, _log.Value);

    internal override long Skip(long most) => _backwards ? base.Skip(most) : _log.Skip(most);

    public override bool MoveNext() => _backwards ? _log.MovePrevious() : _log.MoveNext();

    private protected override void Dispose(bool disposing)
    {
        _log.Dispose();
        _documents.Dispose();
    }
}
