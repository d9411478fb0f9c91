namespace Treepie.Torture.Servers;

/// <summary>
/// A client that works until its server is gone, remembers what it was told, and after the restart holds the server against it.
/// </summary>
internal interface IStormClient
{
    /// <summary>What it did so far, for the report.</summary>
    string Report { get; }

    /// <summary>Makes what it needs, once.</summary>
    Task PrepareAsync(DatabaseClient database);

    /// <summary>Works until the server is gone. Calls <paramref name="acknowledged"/> after each acknowledged change.</summary>
    Task RunAsync(DatabaseClient database, Action acknowledged);

    /// <summary>
    /// Throws where something acknowledged is lost or something refused is there. What had no answer may be either, and stays
    /// what it is found to be.
    /// </summary>
    Task VerifyAsync(DatabaseClient database);
}
