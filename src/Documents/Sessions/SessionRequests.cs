using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>Counts the requests of a session to its database. Grouped requests count once. Not thread-safe.</summary>
internal sealed class SessionRequests(ISessionHost database, SessionReads? reads)
{
    private bool _isTogether;
    private bool _isCounted;

    /// <summary>The number of requests: reads, queries and saves.</summary>
    public int Count { get; private set; }

    public DatabaseSnapshot BeginRead()
    {
        Add();
        return reads is null ? database.BeginRead() : reads.Begin();
    }

    public Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken)
    {
        Add();
        return reads is null
            ? database.QueryAsync(request, cancellationToken)
            : reads.QueryAsync(request, cancellationToken);
    }

    /// <summary>Counts a request.</summary>
    public void Add()
    {
        if (!_isTogether || !_isCounted)
            Count++;
        _isCounted = true;
    }

    /// <summary>Starts a group that counts as one request, until <see cref="EndTogether"/>.</summary>
    public void BeginTogether() => (_isTogether, _isCounted) = (true, false);

    public void EndTogether() => _isTogether = false;
}
