using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Keeps the contents of a revision's attachments while the commands behind it in the batch delete what else has them, to be put
/// by <see cref="RevertAttachmentsCommand"/>.
/// </summary>
/// <param name="documentId">The document.</param>
/// <param name="attachments">In the form of <see cref="RevisionAttachments"/>.</param>
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
