using System.Diagnostics.CodeAnalysis;

namespace Treepie.Sessions;

/// <summary>Loads that are done when their values are asked for.</summary>
public sealed class SessionLazily
{
    private readonly DocumentSession _session;

    internal SessionLazily(DocumentSession session) => _session = session;

    /// <summary>The object of a document, loaded when it is asked for.</summary>
    [UnconditionalSuppressMessage(
        "Trimming", "IL2091", Justification = "The value is made by a function; no constructor is looked for.")]
    public Lazy<T?> Load<T>(string id)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(id);
        return new Lazy<T?>(() => _session.Load<T>(id));
    }

    /// <summary>The objects of several documents, loaded from one snapshot when they are asked for.</summary>
    public Lazy<IReadOnlyDictionary<string, T?>> Load<T>(IEnumerable<string> ids)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(ids);
        string[] wanted = [.. ids];
        return new Lazy<IReadOnlyDictionary<string, T?>>(() => _session.Load<T>(wanted));
    }
}
