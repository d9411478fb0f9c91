using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>
/// The additional guarantee of cluster-wide batches: no other cluster-wide batch has written one of their documents in the
/// meantime.
/// </summary>
internal static class AtomicGuards
{
    /// <summary>
    /// Checks all expectations of the batch before anything is written, so that the exception lists every conflict.
    /// </summary>
    /// <exception cref="ClusterTransactionConcurrencyException">An expectation is not met.</exception>
    public static void Check(DocumentWriter writer, WriteBatch batch)
    {
        var conflicts = new List<ClusterConflict>();
        var seen = new HashSet<string>(StringComparer.Ordinal);
        for (int index = 0; index < batch.Commands.Count; index++)
        {
            WriteCommand command = batch.Commands[index];
            // commands of this kind have Beside set
            ClusterConflict? conflict = command.Kind == WriteKind.Beside ? command.Beside!.Conflict(writer)
                : batch.HasGuards
                    && command is { IdKind: IdKind.Given, Kind: not (WriteKind.Require or WriteKind.RequireUnchanged) }
                    && seen.Add(command.Id) ? Conflict(writer, in command)
                : null;
            if (conflict is not null)
                conflicts.Add(conflict);
        }

        if (conflicts.Count > 0)
            throw new ClusterTransactionConcurrencyException(conflicts);
    }

    /// <summary>
    /// Updates the guard of a document that a command put; returns the result with it. That of a deleted document is deleted
    /// with it; here, one that is left without a document.
    /// </summary>
    public static WriteResult? Move(DocumentWriter writer, in WriteCommand command, WriteResult? result)
    {
        if (result is null || command.Kind is not (WriteKind.Put or WriteKind.Delete))
            return result;

        byte[] id = System.Text.Encoding.UTF8.GetBytes(result.Id), folded = CollectionName.Fold(id);
        if (command.Kind == WriteKind.Delete)
        {
            AtomicGuard.Delete(writer, folded);
            return result;
        }

        long index = AtomicGuard.Move(writer, folded, id);
        return result.ChangeVector is null
            ? result
            : result with { ChangeVector = AtomicGuard.ChangeVector(result.ChangeVector, index) };
    }

    private static ClusterConflict? Conflict(DocumentWriter writer, in WriteCommand command)
    {
        long actual = AtomicGuard.IndexOf(writer, command.FoldedId.Span);
        // One without its document, as from an import, guards nothing.
        bool isFree = command.ExpectedGuard == 0 && actual != 0 && !writer.TryGet(command.FoldedId.Span, out _);
        return isFree || command.ExpectedGuard == WriteCommand.AnyGuard || actual == command.ExpectedGuard
            ? null
            : new ClusterConflict(command.Id, IsDocument: true, command.ExpectedGuard, actual);
    }
}
