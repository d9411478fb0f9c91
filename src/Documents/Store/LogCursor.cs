namespace Treepie.Store;

/// <summary>Documents in the order of a log: of all documents, of one collection, or backwards.</summary>
internal sealed class LogCursor : DocumentCursor
{
    private readonly DatabaseSnapshot _snapshot;
    private readonly LogReader _log;
    private readonly bool _backwards;

    public LogCursor(DatabaseSnapshot snapshot, LogReader log, bool backwards)
    {
        _snapshot = snapshot;
        _log = log;
        _backwards = backwards;
    }

    public override Document Current => _snapshot.GetByFoldedId(_log.Value);

    public override bool MoveNext() => _backwards ? _log.MovePrevious() : _log.MoveNext();

    private protected override void Dispose(bool disposing) => _log.Dispose();
}
