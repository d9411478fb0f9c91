using Treepie.Server.Http;

namespace Treepie.Server.Smuggler;

/// <summary>
/// The body of a form section as a stream. A form that ends prematurely is reported as an error of the client.
/// </summary>
internal sealed class SectionBody(Stream inner) : BodyStream
{
    public override bool CanRead => true;

    /// <exception cref="WireException">The form is truncated or malformed.</exception>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        try
        {
            return await inner.ReadAsync(buffer, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception exception) when (DumpForm.IsBroken(exception))
        {
            throw DumpForm.Broken(exception);
        }
    }
}
