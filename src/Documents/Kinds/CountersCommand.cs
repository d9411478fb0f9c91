using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>Executes operations on counters of one document, in order.</summary>
internal sealed class CountersCommand(string documentId, byte[] foldedId, IReadOnlyList<CounterOperation> operations)
    : KindCommand
{
    public override bool IsDelete => operations.All(static operation => operation.Kind == CounterOperationKind.Delete);

    public override KindResult Apply(IKindHost host)
    {
        bool exists = host.TryGet(foldedId, out DocumentRecord _);
        if (!exists
            && operations.Any(static operation => operation.Kind is CounterOperationKind.Increment or CounterOperationKind.Put))
            throw new DocumentNotFoundException(documentId, "has no counters");

        var counters = new List<CounterValue?>(operations.Count);
        bool namesChanged = false;
        foreach (CounterOperation operation in operations)
        {
            byte[] key = KindKey.OfName(Kind.Counter, foldedId, operation.Name.Span);
            namesChanged |= operation.Kind switch
            {
                CounterOperationKind.Increment => Set(host, key, operation, isIncrement: true),
                CounterOperationKind.Put => Set(host, key, operation, isIncrement: false),
                CounterOperationKind.Delete => Delete(host, key),
                _ => false,
            };
            if (operation.Kind != CounterOperationKind.Delete)
                counters.Add(
                    host.Kinds.TryGet(key, out KindRecord record)
                        ? CounterValue.Read(documentId, record, host.ChangeVectors)
                        : null);
        }

        if (namesChanged)
            host.Touch(foldedId);
        return new CountersResult(
            documentId, counters,
            host.TryGet(foldedId, out DocumentRecord document) ? host.ChangeVectors.Format(document.Etag) : null);
    }

    private bool Set(IKindHost host, byte[] key, CounterOperation operation, bool isIncrement)
    {
        byte[] before = host.Kinds.TryGet(key, out KindRecord record) ? record.Value.ToArray() : [];
        Guid database = host.ChangeVectors.DatabaseId;
        byte[] after;
        try
        {
            after = CounterValue.WithPart(
                before, database,
                isIncrement ? checked(CounterValue.PartOf(before, database) + operation.Delta) : operation.Delta);
            _ = CounterValue.Sum(after);
        }
        catch (OverflowException)
        {
            throw new CounterOverflowException(
                $"The counter '{Encoding.UTF8.GetString(operation.Name.Span)}' of document '{documentId}' cannot take "
                    + $"{operation.Delta:N0}: it would leave the 64 bits of a whole number. Nothing of the batch was written. "
                    + $"Add less, or set it anew.");
        }

        return host.Kinds.Put(key, operation.Name.Span, after, host.NextEtag(), host.NowTicks);
    }

    private static bool Delete(IKindHost host, byte[] key) =>
        host.Kinds.TryGet(key, out _) && host.Kinds.Delete(key, host.NextEtag(), host.NowTicks);
}
