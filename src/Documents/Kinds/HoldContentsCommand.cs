using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Keeps the contents of a revision's attachments while the following commands of the batch delete other references to them,
/// until <see cref="RevertAttachmentsCommand"/> stores them.
/// </summary>
/// <param name="documentId">The document.</param>
/// <param name="attachments">The attachments in the form of <see cref="RevisionAttachments"/>.</param>
internal sealed class HoldContentsCommand(string documentId, ReadOnlyMemory<byte> attachments) : KindCommand
{
    public override KindResult Apply(IKindHost host)
    {
        for (var all = new RevisionAttachments(attachments.Span); all.MoveNext();)
        {
            if (!host.Kinds.Contents.Contains(all.Hash))
                throw new DocumentNotFoundException(documentId, "has no such revision any more");
            host.Kinds.Contents.Acquire(all.Hash);
        }

        return new RestoredResult(true);
    }
}
