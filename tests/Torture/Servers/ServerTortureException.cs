namespace Treepie.Torture.Servers;

/// <summary>A promise of the server is broken; the message says which.</summary>
internal sealed class ServerTortureException(string message) : Exception(message)
{
    /// <summary>Throws unless it is so.</summary>
    public static void ThrowUnless(bool isSo, string message)
    {
        if (!isSo)
            throw new ServerTortureException(message);
    }
}
