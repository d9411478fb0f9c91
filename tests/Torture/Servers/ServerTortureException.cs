namespace Treepie.Torture.Servers;

/// <summary>The server violated a guarantee; the message says which.</summary>
internal sealed class ServerTortureException(string message) : Exception(message)
{
    /// <summary>Throws if the condition is false.</summary>
    public static void ThrowUnless(bool isSo, string message)
    {
        if (!isSo)
            throw new ServerTortureException(message);
    }
}
