using System.Diagnostics.CodeAnalysis;

namespace Treepie.Linq;

/// <summary>Takes queries that are run together with everything else of the session that waits, when one is asked for.</summary>
internal interface ILazyOperations
{
    /// <summary>Why trimming takes nothing from a <see cref="Lazy{T}"/> of any type here.</summary>
    const string NoConstructor = "The value is made by a function; no constructor is looked for.";

    /// <summary>A query whose caller blocks.</summary>
    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = NoConstructor)]
    Lazy<T> Query<T>(Func<CancellationToken, Task<T>> run);

    /// <summary>A query whose caller awaits it.</summary>
    Lazy<Task<T>> QueryAsync<T>(Func<CancellationToken, Task<T>> run);
}
