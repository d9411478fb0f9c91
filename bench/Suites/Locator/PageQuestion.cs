namespace Treepie.Bench.Suites.Locator;

/// <summary>Who asks for a page.</summary>
internal enum PageQuestion
{
    /// <summary>A read transaction: where does it lie?</summary>
    Read,

    /// <summary>A write transaction: where does it lie, and may it be changed?</summary>
    Write,

    /// <summary>A transaction of an encrypted environment: where does it lie decrypted, and is that held?</summary>
    Encrypted,
}
