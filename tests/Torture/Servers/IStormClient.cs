namespace Treepie.Torture.Servers;

/// <summary>
/// A client that works until its server is killed, remembers the responses, and after the restart verifies the server
/// against them.
/// </summary>
internal interface IStormClient
{
    /// <summary>Summary of its work for the report.</summary>
    string Report { get; }

    /// <summary>Creates what it needs, once.</summary>
    Task PrepareAsync(DatabaseClient database);

    /// <summary>Works until the server is gone. Calls <paramref name="acknowledged"/> after each acknowledged change.</summary>
    Task RunAsync(DatabaseClient database, Action acknowledged);

    /// <summary>
    /// Throws if something acknowledged is lost or something refused exists. Requests without response may or may not have
    /// taken effect; what is found becomes the expected state.
    /// </summary>
    Task VerifyAsync(DatabaseClient database);
}
