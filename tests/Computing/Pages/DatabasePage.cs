using Treepie.Sessions;

namespace Treepie.Computing.Tests.Pages;

/// <summary>A database and a session, as most blocks have them.</summary>
public abstract class DatabasePage : IPageState
{
    private readonly Database _database = Database.OpenInMemory(new DatabaseOptions { Computing = new TextComputingEngine() });
    private DocumentSession? _session;

    async Task IPageState.BeginAsync(string directory)
    {
        using (DocumentSession first = _database.OpenSession())
        {
            Fill(first);
            await first.SaveChangesAsync(TestContext.Current.CancellationToken);
        }

        _session = _database.OpenSession();
        Give(_database, _session);
    }

    async Task IPageState.EndAsync() => await _session!.SaveChangesAsync(TestContext.Current.CancellationToken);

    public void Dispose()
    {
        _session?.Dispose();
        _database.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>Stores the documents.</summary>
    protected abstract void Fill(DocumentSession session);

    /// <summary>Sets the static members that blocks use.</summary>
    protected abstract void Give(Database database, DocumentSession session);
}
