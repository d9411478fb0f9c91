using System.Buffers;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>Writes what a time series that is declared beside a patch comes to, as JSON.</summary>
/// <param name="number">The number of the declaration, which the patch knows.</param>
/// <param name="foldedId">The folded id of the document.</param>
/// <param name="items">The entries, as the transaction of the patch sees them.</param>
/// <param name="load">Returns the body of a document by its id, or null if there is none.</param>
/// <param name="output">Receives the JSON.</param>
/// <param name="cancellationToken">Cancels the reading.</param>
internal delegate void DeclaredSeries(
    int number, byte[] foldedId, KindItems items, Func<string, byte[]?> load, IBufferWriter<byte> output,
    CancellationToken cancellationToken);
