namespace Treepie.Storage.Format;

/// <summary>The kind of a user's key.</summary>
internal enum KeyDerivationKind
{
    /// <summary>Invalid: never written.</summary>
    None = 0,

    /// <summary>32 random bytes.</summary>
    Bytes = 1,

    /// <summary>A passphrase.</summary>
    Passphrase = 2,
}
