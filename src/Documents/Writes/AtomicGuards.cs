using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>
/// What cluster-wide batches promise beside being atomic: nobody else's cluster-wide batch wrote one of their documents in
/// between.
/// </summary>
internal static class AtomicGuards
{
    /// <summary>Compares all that the batch expects before anything is written, so that an error names each conflict.</summary>
    /// <exception cref="ClusterTransactionConcurrencyException">Something is not as expected.</exception>
    public static void Check(DocumentWriter writer, WriteBatch batch)
    {
        var conflicts = new List<ClusterConflict>();
        var seen = new HashSet<string>(StringComparer.Ordinal);
        for (int index = 0; index < batch.Commands.Count; index++)
        {
            WriteCommand command = batch.Commands[index];
            // what that kind of command has
            ClusterConflict? conflict = command.Kind == WriteKind.Beside ? command.Beside!.Conflict(writer)
                : batch.HasGuards && command.IdKind == IdKind.Given && seen.Add(command.Id) ? Conflict(writer, in command)
                : null;
            if (conflict is not null)
                conflicts.Add(conflict);
        }

        if (conflicts.Count > 0)
            throw new ClusterTransactionConcurrencyException(conflicts);
    }

    /// <summary>Puts or deletes the guard of the document that a command wrote; gives the result with it.</summary>
    public static WriteResult? Move(DocumentWriter writer, in WriteCommand command, WriteResult? result)
    {
        if (result is null || command.Kind is not (WriteKind.Put or WriteKind.Delete))
            return result;

        byte[] id = System.Text.Encoding.UTF8.GetBytes(result.Id), folded = CollectionName.Fold(id);
        bool isDeleted = command.Kind == WriteKind.Delete;
        long index = AtomicGuard.Move(writer, folded, id, isDeleted);
        return isDeleted || result.ChangeVector is null
            ? result
            : result with { ChangeVector = AtomicGuard.ChangeVector(result.ChangeVector, index) };
    }

    private static ClusterConflict? Conflict(DocumentWriter writer, in WriteCommand command)
    {
        long actual = AtomicGuard.IndexOf(writer, command.FoldedId.Span);
        return command.ExpectedGuard == WriteCommand.AnyGuard || actual == command.ExpectedGuard
            ? null
            : new ClusterConflict(command.Id, IsDocument: true, command.ExpectedGuard, actual);
    }
}
