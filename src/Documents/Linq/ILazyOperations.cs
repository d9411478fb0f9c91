using System.Diagnostics.CodeAnalysis;

namespace Treepie.Linq;

/// <summary>Adds lazy queries, which are executed together with the other lazy operations of the session.</summary>
internal interface ILazyOperations
{
    /// <summary>The justification why trimming is safe for <see cref="Lazy{T}"/> of any type here.</summary>
    const string NoConstructor = "The value is made by a function; no constructor is looked for.";

    /// <summary>Adds a query whose value is read synchronously.</summary>
    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = NoConstructor)]
    Lazy<T> Query<T>(Func<CancellationToken, Task<T>> run);

    /// <summary>Adds a query whose value is awaited.</summary>
    Lazy<Task<T>> QueryAsync<T>(Func<CancellationToken, Task<T>> run);
}
