namespace Treepie.Storage.Format;

/// <summary>What a user's key is.</summary>
internal enum KeyDerivationKind
{
    /// <summary>Nothing that was ever written.</summary>
    None = 0,

    /// <summary>32 random bytes.</summary>
    Bytes = 1,

    /// <summary>A passphrase.</summary>
    Passphrase = 2,
}
